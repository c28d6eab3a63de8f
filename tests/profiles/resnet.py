"""Trains a small residual network under the profiler of PyTorch, as a phase of a run: resnet.py TRACE"""

import subprocess
import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.one = nn.Conv2d(channels, channels, 3, padding=1)
        self.two = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        return torch.relu(x + self.norm(self.two(torch.relu(self.one(x)))))


torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), *[Block(16) for _ in range(4)], nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
images, labels = torch.randn(16, 3, 32, 32), torch.randint(0, 10, (16,))

subprocess.run(["impact", "mark", "--start", "train"], check=True)
with profile(activities=[ProfilerActivity.CPU]) as profiler:
    for _ in range(20):
        with record_function("train_step"):
            optimizer.zero_grad()
            with record_function("loss"):
                loss = nn.functional.cross_entropy(net(images), labels)
            loss.backward()
            optimizer.step()
subprocess.run(["impact", "mark", "--end", "train"], check=True)
profiler.export_chrome_trace(sys.argv[1])
