"""Fits a line with parameter servers (tf.distribute): a chief that drives, servers that hold the weights, workers that compute.

Every replica runs this program; what it is says TF_CONFIG, which the operator, or the plugin `tensorflow` of a Volcano job, sets.
"""
import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["GRPC_FAIL_FAST"] = "use_caller"
import tensorflow as tf

EPOCHS = int(os.environ.get("EPOCHS", "5"))


def serve(resolver):
    tf.distribute.Server(resolver.cluster_spec(), job_name=resolver.task_type, task_index=resolver.task_id,
                         protocol="grpc", start=True).join()


def drive(resolver):
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        weights = tf.Variable(tf.zeros([8, 1]))
        bias = tf.Variable(0.0)
    truth = tf.reduce_sum

    @tf.function
    def step(seed):
        inputs = tf.random.stateless_normal([64, 8], seed=tf.stack([seed, 7]))
        targets = truth(inputs, axis=1, keepdims=True)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((inputs @ weights + bias - targets) ** 2)
        for variable, gradient in zip([weights, bias], tape.gradient(loss, [weights, bias])):
            variable.assign_sub(0.05 * gradient)
        return loss

    losses = []
    for epoch in range(EPOCHS):
        results = [coordinator.schedule(step, args=(tf.constant(epoch * 1000 + i),)) for i in range(20)]
        coordinator.join()
        losses.append(sum(float(one.fetch()) for one in results) / len(results))
        print(f"epoch {epoch + 1}/{EPOCHS} loss={losses[-1]:.6f}", flush=True)
    print("Script execution completed.", flush=True)
    return 0 if losses[-1] < losses[0] else 1


def main():
    print("TF_CONFIG", json.loads(os.environ["TF_CONFIG"]), flush=True)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type in ("worker", "ps"):
        serve(resolver)
    return drive(resolver)


if __name__ == "__main__":
    code = main()
    os._exit(code)  # the workers' connections would be waited for
