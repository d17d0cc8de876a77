"""Healthy runs of estimators and numeric libraries: missing values, failed trials, fits that do not converge."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import numpy as np
from recorder import families

log = logging.getLogger("run")


def table(count: int = 200, width: int = 6) -> tuple[Any, Any]:
    """Features with some missing values and a binary target."""
    random = np.random.default_rng(0)
    features = random.normal(size=(count, width))
    target = (features[:, 0] + 0.3 * random.normal(size=count) > 0).astype(int)
    features[::17, 2] = np.nan
    return features, target


def grid_with_failed_fits() -> None:
    """A grid search in which some fits fail: sklearn shows their tracebacks, scores nan, and finds the best of the rest."""
    import sklearn
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    print("scikit-learn", sklearn.__version__)

    features, target = table()
    search = GridSearchCV(
        LogisticRegression(solver="liblinear"), {"penalty": ["l1", "l2", "elasticnet"]}, cv=3, verbose=3
    )
    search.fit(np.nan_to_num(features), target)
    print("mean scores", search.cv_results_["mean_test_score"], "best", search.best_params_)


def not_converged() -> None:
    """Convergence and undefined-metric warnings of a small neural network."""
    from sklearn.metrics import classification_report
    from sklearn.neural_network import MLPClassifier

    features, target = table()
    model = MLPClassifier((8,), max_iter=15, verbose=True, random_state=0).fit(np.nan_to_num(features), target)
    print(classification_report(target, model.predict(np.nan_to_num(features)) * 0))


def xgb_missing_values() -> None:
    """Boosting over missing values, with unused parameters and no GPU."""
    import xgboost

    features, target = table()
    data = xgboost.DMatrix(features, label=target, missing=np.nan)
    options = {
        "objective": "binary:logistic",
        "eval_metric": ["logloss", "auc"],
        "verbosity": 2,
        "max_depth": 3,
        "cuda_graph": 1,
        "device": "cuda",
    }
    model = xgboost.train(options, data, 12, evals=[(data, "train")], early_stopping_rounds=5)
    try:
        model.predict(xgboost.DMatrix(features[:, :4]))
    except ValueError as why:
        print("ValueError in scoring, retrying with all columns:", why)
    print("mean", model.predict(data).mean())


def lgbm_no_more_splits() -> None:
    """LightGBM's warnings about splits that cannot be made."""
    import lightgbm

    features, target = table(60)
    lightgbm.train(
        {"objective": "binary", "num_leaves": 63, "min_data_in_leaf": 12, "metric": ["auc", "binary_logloss"]},
        lightgbm.Dataset(features, target),
        10,
        valid_sets=[lightgbm.Dataset(features, target)],
        callbacks=[lightgbm.log_evaluation(1), lightgbm.early_stopping(3)],
    )


def catboost_overfit_stop() -> None:
    """CatBoost stops by its overfitting detector."""
    import catboost

    features, target = table()
    catboost.CatBoostClassifier(iterations=25, od_type="Iter", od_wait=5, verbose=1, train_dir="cat").fit(
        features[:150], target[:150], eval_set=(features[150:], target[150:])
    )


def failed_trials() -> None:
    """Optuna goes on after trials that fail, return nan or are pruned."""
    import optuna

    def objective(trial: Any) -> float:
        rate = trial.suggest_float("lr", 1e-5, 1.0, log=True)
        if rate > 0.3:
            raise RuntimeError(f"loss diverged for lr {rate:.3g}")
        if rate > 0.05:
            return float("nan")
        if trial.number % 4 == 3:
            raise optuna.TrialPruned
        return float((np.log10(rate) + 3) ** 2)

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=4))
    study.optimize(objective, n_trials=16, catch=(RuntimeError,))
    print(study.trials_dataframe().to_string(max_colwidth=20))
    print("best", study.best_params)


def perfect_separation() -> None:
    """statsmodels warns and prints nan for what cannot be estimated."""
    import statsmodels.api as sm

    features, target = table(40)
    clean = sm.add_constant(np.nan_to_num(features))
    print(sm.OLS(target, np.hstack([clean, clean[:, :1]])).fit().summary())
    print(sm.Logit((clean[:, 1] > 0).astype(int), clean[:, :2]).fit(maxiter=8).summary())


def runtime_warnings() -> None:
    """NumPy's floating-point warnings in a report."""
    values = np.array([0.0, -1.0, np.nan, 4.0, np.inf])
    for name, make in {
        "log": np.log,
        "sqrt": np.sqrt,
        "exp": lambda v: np.exp(v * 1000),
        "ratio": lambda v: v / 0.0,
    }.items():
        print(name, make(values))
    print("empty mean", np.mean([]), "all-nan max", np.nanmax([np.nan, np.nan]), np.float32(1e38) * np.float32(10))


def missing_values_tables() -> None:
    """pandas tables full of NaN, chained-assignment and dtype warnings."""
    import pandas as pd

    warnings.simplefilter("always")
    frame = pd.DataFrame(
        {"step": range(6), "loss": [2.3, np.nan, 1.9, 1.7, np.nan, 1.5], "note": ["ok", "failed", None] * 2}
    )
    print(frame, frame.describe(include="all"), frame.corr(numeric_only=True), sep="\n")
    part = frame[frame.step > 2]
    part["loss"] = 0
    try:
        frame.loc[0, "step"] = "first"
    except TypeError as why:
        print("TypeError:", why, "-> kept as it was")
    print(pd.concat([frame, pd.DataFrame(columns=frame.columns)]).isna().sum())
    try:
        pd.to_datetime(["2024-01-01", "nan?"], format="%Y-%m-%d")
    except ValueError as why:
        print("ValueError:", why, "-> coerced:", pd.to_datetime(["2024-01-01", "nan?"], errors="coerce"))


def integrals_and_fits() -> None:
    """SciPy's warnings about accuracy, ill conditioning and covariance."""
    from scipy import integrate, linalg, optimize, stats

    print(integrate.quad(lambda x: 1 / np.sqrt(abs(x - 0.3)), 0, 1, limit=3))
    print(optimize.curve_fit(lambda x, a, b: a * x + 0 * b, np.arange(4.0), np.arange(4.0)))
    print(linalg.solve(np.array([[1, 1], [1, 1 + 1e-16]]) + np.diag([0, 1e-15]), np.ones(2)))
    print(stats.pearsonr([1, 1, 1], [1, 2, 3]), optimize.minimize(lambda x: np.nan if x[0] > 3 else -x[0], [0.0]))


GROUPS = {
    "scikit-learn": {"grid_with_failed_fits": grid_with_failed_fits, "not_converged": not_converged},
    "xgboost": {"xgb_missing_values": xgb_missing_values},
    "lightgbm": {"lgbm_no_more_splits": lgbm_no_more_splits},
    "catboost": {"catboost_overfit_stop": catboost_overfit_stop},
    "optuna": {"failed_trials": failed_trials},
    "statsmodels": {"perfect_separation": perfect_separation},
    "numpy": {"runtime_warnings": runtime_warnings},
    "pandas": {"missing_values_tables": missing_values_tables},
    "scipy": {"integrals_and_fits": integrals_and_fits},
}

if __name__ == "__main__":
    families(GROUPS, {"HF_HUB_OFFLINE": "1"})
