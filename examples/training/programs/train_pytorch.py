"""Fits a line with data parallel training (DDP over gloo): a master and its workers, one process a pod.

The loss falls, and every rank ends with the same numbers; a rank that has others exits with 1.
"""
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

EPOCHS = int(os.environ.get("EPOCHS", "5"))


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")  # MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE come from the operator
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1)
    model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    data = torch.Generator().manual_seed(100 + rank)  # each rank has its own part
    inputs = torch.randn(256, 8, generator=data)
    targets = inputs.sum(dim=1, keepdim=True)
    losses = []
    for epoch in range(EPOCHS):
        for at in range(0, len(inputs), 32):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(inputs[at:at + 32]), targets[at:at + 32]).backward()
            optimizer.step()
        with torch.no_grad():
            loss = torch.nn.functional.mse_loss(model(inputs), targets)
        dist.all_reduce(loss)
        losses.append(loss.item() / world)
        if rank == 0:
            print(f"epoch {epoch + 1}/{EPOCHS} loss={losses[-1]:.6f}", flush=True)
    weights = torch.cat([p.detach().flatten() for p in model.parameters()])
    mine = torch.tensor([losses[-1], weights.sum().item()], dtype=torch.float64)
    everyone = [torch.zeros_like(mine) for _ in range(world)]
    dist.all_gather(everyone, mine)
    same = all(torch.equal(mine, other) for other in everyone)
    print(f"rank {rank} of {world}: loss {losses[0]:.6f} -> {losses[-1]:.6f}, {'the same' if same else 'NOT the same'} on all ranks", flush=True)
    dist.destroy_process_group()
    return 0 if same and losses[-1] < losses[0] else 1


if __name__ == "__main__":
    raise SystemExit(main())
