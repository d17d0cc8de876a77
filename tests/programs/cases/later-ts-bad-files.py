from datasets.packaged_modules.tsfile.tsfile import TsFileConfig

config = TsFileConfig(on_bad_files="ignore")
