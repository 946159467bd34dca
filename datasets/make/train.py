#!/usr/bin/python3
"""Trains the two shipped float networks on rendered characters and writes them as ONNX.

    datasets/models/plain_cnn.onnx   convolutions, max pools, two fully-connected layers
    datasets/models/res_dsconv.onnx  residual depthwise-separable blocks, ReLU6, global pool

Training images are rendered anew (generate.py, another seed, without the held-out fonts).
Seeds are fixed and the work is single-machine deterministic; other versions of PyTorch
or another processor may give slightly different weights.
"""

import pathlib
import sys
import time
from collections import OrderedDict

import numpy as np
import torch
from PIL import Image
from torch import nn

import generate

TRAIN_COUNT, TRAIN_SEED = 34 * 1000, 20260103
EPOCHS, BATCH = 11, 128
# Must say what datasets/glyphs/preprocess.yaml says: (pixel / 255 - 0.5) / 0.25.
MEAN, STD = 0.5, 0.25
CLASS_COUNT = len(generate.CLASSES)


def convolution(inputs, outputs, stride=1, kernel=3, groups=1, act=None):
    layers = OrderedDict(
        conv=nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        bn=nn.BatchNorm2d(outputs),
    )
    if act:
        layers["act"] = act()
    return nn.Sequential(layers)


class PlainCnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = convolution(1, 16, act=nn.ReLU)
        self.conv2 = convolution(16, 32, act=nn.ReLU)
        self.conv3 = convolution(32, 48, act=nn.ReLU)
        self.conv4 = convolution(48, 48, act=nn.ReLU)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(48 * 4 * 4, 64)
        self.relu = nn.ReLU()
        self.fc2 = nn.Linear(64, CLASS_COUNT)

    def forward(self, x):
        x = self.pool(self.conv1(x))
        x = self.pool(self.conv2(x))
        x = self.pool(self.conv4(self.conv3(x)))
        return self.fc2(self.relu(self.fc1(torch.flatten(x, 1))))


class Separable(nn.Module):
    """Depthwise then pointwise; with a skip connection where the shapes allow one."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.dw = convolution(inputs, inputs, stride, groups=inputs, act=nn.ReLU6)
        self.pw = convolution(inputs, outputs, kernel=1)
        self.relu = nn.ReLU()
        self.skip = inputs == outputs and stride == 1

    def forward(self, x):
        y = self.pw(self.dw(x))
        return self.relu(x + y) if self.skip else self.relu(y)


class ResDsconv(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = convolution(1, 16, act=nn.ReLU6)
        shapes = [
            (16, 32, 2),
            (32, 32, 1),
            (32, 32, 1),
            (32, 64, 2),
            (64, 64, 1),
            (64, 64, 1),
            (64, 96, 2),
            (96, 96, 1),
        ]
        self.block_names = [f"block{i + 1}" for i in range(len(shapes))]
        for name, shape in zip(self.block_names, shapes):
            self.add_module(name, Separable(*shape))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(96, CLASS_COUNT)

    def forward(self, x):
        x = self.stem(x)
        for name in self.block_names:
            x = getattr(self, name)(x)
        return self.fc(torch.flatten(self.pool(x), 1))


def preprocess(images):
    """uint8 [N, H, W] to float32 [N, 1, H, W]."""
    return ((torch.from_numpy(images).float() / 255 - MEAN) / STD).unsqueeze(1)


def read_folder(folder):
    lines = [line.split() for line in (folder / "labels.txt").read_text().splitlines()]
    images = np.stack([np.asarray(Image.open(folder / name)) for name, _ in lines])
    return images, np.array([int(label) for _, label in lines])


def accuracy(model, x, labels):
    model.eval()
    with torch.no_grad():
        guess = torch.cat([model(part).argmax(1) for part in x.split(256)])
    return (guess == labels).float().mean().item()


def train(model, images, labels, test):
    generator = torch.Generator().manual_seed(7)
    steps = EPOCHS * (len(images) // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps)
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.03)
    labels = torch.from_numpy(labels)
    for epoch in range(EPOCHS):
        start = time.time()
        model.train()
        order = torch.randperm(len(images), generator=generator)
        for part in order.split(BATCH):
            if len(part) < BATCH:
                continue
            x = preprocess(images[part.numpy()])
            shift = torch.randint(-2, 3, (2,), generator=generator).tolist()
            x = torch.roll(x, shift, (2, 3))
            x = x + 0.1 * torch.randn(x.shape, generator=generator)
            loss = loss_of(model(x), labels[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        print(
            f"  epoch {epoch + 1}: loss {loss.item():.3f}, test {100 * accuracy(model, *test):.2f} %,"
            f" {time.time() - start:.0f} s",
            flush=True,
        )


def export(model, path):
    # PRESERVE on a model in eval mode keeps BatchNormalization as nodes of their own, so
    # that folding them stays the business of opt/.
    model.eval()
    torch.onnx.export(
        model,
        torch.zeros(1, 1, generate.SIZE, generate.SIZE),
        path,
        input_names=["image"],
        output_names=["logits"],
        opset_version=13,
        training=torch.onnx.TrainingMode.PRESERVE,
        do_constant_folding=False,
    )
    print(f"{path}: {path.stat().st_size} bytes")


def main():
    here = pathlib.Path(__file__).resolve().parent
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parent / "models"
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(2)
    torch.use_deterministic_algorithms(True)
    images, labels = generate.samples(TRAIN_COUNT, TRAIN_SEED, generate.FONTS)
    test_images, test_labels = read_folder(here.parent / "glyphs" / "test")
    test = preprocess(test_images), torch.from_numpy(test_labels)
    for name, build in (("plain_cnn", PlainCnn), ("res_dsconv", ResDsconv)):
        torch.manual_seed(1)
        model = build()
        print(name, sum(p.numel() for p in model.parameters()), "parameters", flush=True)
        train(model, images, labels, test)
        print(f"{name}: test accuracy {100 * accuracy(model, *test):.2f} %", flush=True)
        export(model, out / f"{name}.onnx")


if __name__ == "__main__":
    main()
