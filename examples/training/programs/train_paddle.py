"""Fits a line with Paddle's collective training over gloo, one process a pod (paddle.distributed.launch starts this)."""
import os

import paddle
import paddle.distributed as dist


def main():
    paddle.set_device("cpu")
    dist.init_parallel_env()
    rank, world = dist.get_rank(), dist.get_world_size()
    paddle.seed(1)
    model = paddle.nn.Linear(8, 1)
    optimizer = paddle.optimizer.SGD(learning_rate=0.05, parameters=model.parameters())
    paddle.seed(100 + rank)
    inputs = paddle.randn([256, 8])
    targets = inputs.sum(axis=1, keepdim=True)
    losses = []
    for _ in range(20):
        loss = paddle.nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
            parameter.grad.set_value(parameter.grad / world)
        optimizer.step()
        optimizer.clear_grad()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        losses.append(float(mean) / world)
    print(f"rank {rank} of {world}: loss {losses[0]:.6f} -> {losses[-1]:.6f}", flush=True)
    return 0 if losses[-1] < losses[0] else 1


if __name__ == "__main__":
    raise SystemExit(main())
