"""Two processes of JAX on their processors: a sum over both, then a line fitted with gradients averaged over both."""
import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax

jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize(f"{os.environ['COORDINATOR_ADDRESS']}:{os.environ['COORDINATOR_PORT']}",
                           int(os.environ["NUM_PROCESSES"]), int(os.environ["PROCESS_ID"]))
import jax.numpy as jnp
from jax.experimental import multihost_utils


def main():
    rank, world = jax.process_index(), jax.process_count()
    ranks = multihost_utils.process_allgather(jnp.array([float(rank)]))
    print(f"process {rank} of {world}: the sum of all ranks is {float(ranks.sum()):.0f}", flush=True)
    inputs = jax.random.normal(jax.random.PRNGKey(rank), (256, 8))
    targets = inputs.sum(axis=1)
    weights = jnp.zeros(8)
    grad = jax.jit(jax.value_and_grad(lambda w: jnp.mean((inputs @ w - targets) ** 2)))
    losses = []
    for epoch in range(20):
        loss, gradient = grad(weights)
        everyone = multihost_utils.process_allgather(jnp.concatenate([gradient, loss[None]]))
        weights = weights - 0.1 * everyone.mean(axis=0)[:8]
        losses.append(float(everyone[:, 8].mean()))
    if rank == 0:
        print(f"loss {losses[0]:.6f} -> {losses[-1]:.6f} on {world} processes", flush=True)
    return 0 if losses[-1] < losses[0] and float(ranks.sum()) == world * (world - 1) / 2 else 1


if __name__ == "__main__":
    raise SystemExit(main())
