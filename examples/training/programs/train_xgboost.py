"""Distributed gradient boosting: the master runs the tracker and takes part as rank 0; every rank has its own rows."""
import os
import threading

import numpy as np
import xgboost as xgb
from xgboost.tracker import RabitTracker

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
ADDRESS, PORT = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])


def main():
    if RANK == 0:
        tracker = RabitTracker(host_ip="0.0.0.0", n_workers=WORLD, port=PORT, sortby="task")
        tracker.start()
        threading.Thread(target=tracker.wait_for, daemon=True).start()
    with xgb.collective.CommunicatorContext(dmlc_tracker_uri=ADDRESS, dmlc_tracker_port=PORT, dmlc_task_id=f"{RANK:04}",
                                            dmlc_retry=30):
        rows = np.random.default_rng(RANK)
        inputs = rows.normal(size=(2000, 6)).astype(np.float32)
        labels = (inputs.sum(axis=1) > 0).astype(np.float32)
        data = xgb.DMatrix(inputs, labels)
        told = {}
        xgb.train({"objective": "binary:logistic", "max_depth": 3, "tree_method": "hist", "nthread": 1,
                   "eval_metric": "logloss"}, data, num_boost_round=20, evals=[(data, "train")], evals_result=told,
                  verbose_eval=False)
        losses = told["train"]["logloss"]
        if RANK == 0:
            print(f"logloss {losses[0]:.6f} -> {losses[-1]:.6f} on {WORLD} ranks", flush=True)
        return 0 if losses[-1] < losses[0] else 1


if __name__ == "__main__":
    raise SystemExit(main())
