from datasets.packaged_modules.tsfile.tsfile import TsFileConfig

config = TsFileConfig(columns=[])
