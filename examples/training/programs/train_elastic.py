"""Trains in rounds with as many workers as there are (torch.distributed.run with c10d rendezvous).

Workers may come and go: the launcher starts this program again in every worker, and the step that was reached last is taken
from the workers that were there before. Ends after STEPS steps.
"""
import os
import time

import torch
import torch.distributed as dist

STEPS = int(os.environ.get("STEPS", "60"))
STATE = "/tmp/elastic-state.pt"


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1)
    model = torch.nn.Linear(8, 1)
    step = torch.zeros(1)
    if os.path.exists(STATE):
        state = torch.load(STATE)
        model.load_state_dict(state["model"])
        step = state["step"]
    # Whoever came furthest tells the others.
    steps = [torch.zeros(1) for _ in range(world)]
    dist.all_gather(steps, step)
    ahead = max(range(world), key=lambda r: (steps[r].item(), -r))
    for value in model.state_dict().values():
        dist.broadcast(value, ahead)
    at = int(steps[ahead].item())
    if rank == 0:
        print(f"{world} workers go on from step {at}", flush=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    while at < STEPS:
        inputs = torch.randn(64, 8)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(inputs), inputs.sum(dim=1, keepdim=True))
        loss.backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
            parameter.grad /= world
        optimizer.step()
        at += 1
        torch.save({"model": model.state_dict(), "step": torch.tensor([float(at)])}, STATE)
        if rank == 0 and at % 10 == 0:
            print(f"step {at}/{STEPS} with {world} workers loss={loss.item():.6f}", flush=True)
        time.sleep(0.5)
    print(f"done after {at} steps with {world} workers", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
