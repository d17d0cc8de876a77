"""Does MLflow refuse metric names with ``@``, brackets or ``//``?"""

QUESTION = "Does this MLflow refuse a metric name with '@', brackets or '//'?"
NEEDS = []  # installed as mlflow, or as mlflow-skinny
PARAMETERS = {}
DEVICES = ["cpu"]
SETTLED_BY = None
PAIRS = [("confirmed", {"mlflow-skinny": "2.11.0", "setuptools": "69.5.1"})]
REPRODUCE = """
mlflow.log_metrics({{"val-aux/math/reward/mean@1": 0.5}}, step=1)
"""
REFUSED = ("val-aux/math/reward/mean@1", "timing(s)/gen", "val-aux//reward/mean")


def run(kit):
    import os
    import re

    kit.expects(
        ("MlflowException", "RestException"),
        r"Names may only contain|Names may be treated as files in certain cases, and must not resolve to other names",
    )
    mlflow = kit.need("mlflow")
    mlflow.set_tracking_uri("file:" + os.path.join(kit.folder, "mlruns"))
    mlflow.set_experiment("probe")

    def logged(metrics):
        with mlflow.start_run():
            mlflow.log_metrics(metrics, step=1)

    def allowed(metrics):
        return {re.sub(r"[^\w\-./: ]", "_", re.sub(r"/+", "/", k)).strip("/"): v for k, v in metrics.items()}

    refused = [name for name in REFUSED if kit.symptom(name, lambda name=name: logged({name: 0.5}))]
    if refused:
        kit.fix(
            "replace",
            "replace the refused characters before the metrics are logged",
            lambda: logged(allowed(dict.fromkeys(refused, 0.5))),
            words=r"replace the refused characters",
        )
    if REFUSED[2] in refused:
        kit.fix(
            "no-empty-part",
            "a data_source, so that the name has no empty part",
            lambda: logged({"val-aux/my_task/reward/mean": 0.5}),
            words=r"so that the name has no empty part",
        )
