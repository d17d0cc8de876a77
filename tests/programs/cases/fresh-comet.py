import pandas as pd
from trl.trainer.utils import log_table_to_comet_experiment

log_table_to_comet_experiment("completions.csv", pd.DataFrame({"text": ["a"]}))
