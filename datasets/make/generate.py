#!/usr/bin/python3
"""Renders the shipped image set: characters from Debian's fonts, as 32x32 gray PNG.

Writes datasets/glyphs/{test,calibration}/ with a labels.txt each, and classes.txt.
`samples()` also serves train.py, which renders its own images and keeps none of them.

Everything follows from the seeds below and from the versions of the fonts, FreeType
and Pillow; the shipped files were made on Debian 12.
"""

import math
import os
import pathlib
import sys

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

SIZE = 32  # pixels a side of an image
SUPERSAMPLE = 4  # glyphs are drawn this much larger, moved, then averaged down

# 0 and 1 are left out: in many of these fonts they are O and l.
CLASSES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ23456789"

TRUETYPE = "/usr/share/fonts/truetype/"
URW = "/usr/share/fonts/opentype/urw-base35/"

FONTS = [
    TRUETYPE + name
    for name in (
        "dejavu/DejaVuSans.ttf",
        "dejavu/DejaVuSans-Bold.ttf",
        "dejavu/DejaVuSerif.ttf",
        "dejavu/DejaVuSansMono.ttf",
        "liberation/LiberationSans-Regular.ttf",
        "liberation/LiberationSans-BoldItalic.ttf",
        "liberation/LiberationSerif-Regular.ttf",
        "liberation/LiberationSerif-Italic.ttf",
        "liberation/LiberationMono-Bold.ttf",
        "freefont/FreeSansOblique.ttf",
        "freefont/FreeSerifBold.ttf",
        "freefont/FreeMono.ttf",
    )
] + [
    URW + name
    for name in ("C059-Roman.otf", "P052-Italic.otf", "URWBookman-Demi.otf", "URWGothic-Book.otf")
]

# Seen by the test set only, so that the accuracy measures more than memory.
HELD_OUT_FONTS = [
    TRUETYPE + "liberation/LiberationSansNarrow-Regular.ttf",
    TRUETYPE + "dejavu/DejaVuSerif-BoldItalic.ttf",
    URW + "URWGothic-DemiOblique.otf",
    URW + "P052-Bold.otf",
]

TEST_COUNT, TEST_SEED = 1020, 20260101  # 30 of each class
CALIBRATION_COUNT, CALIBRATION_SEED = 256, 20260102


def load_fonts(paths):
    """Each font at a size that makes its capital H 22 pixels high in the final image."""
    fonts = []
    for path in paths:
        trial = ImageFont.truetype(path, 100)
        left, top, right, bottom = trial.getbbox("H")
        fonts.append(ImageFont.truetype(path, round(100 * 22 * SUPERSAMPLE / (bottom - top))))
    return fonts


def render(rng, font, character):
    """One image, uint8 [SIZE, SIZE]."""
    side = SIZE * SUPERSAMPLE
    canvas = Image.new("L", (2 * side, 2 * side), 0)
    ImageDraw.Draw(canvas).text((side, side), character, font=font, fill=255, anchor="mm")
    left, top, right, bottom = canvas.getbbox()

    # The affine map from an output pixel back to the canvas: rotation, then unequal
    # scale and slant, about the middle of the glyph.
    angle = math.radians(rng.uniform(-28, 28))
    scale_x, scale_y = rng.uniform(0.7, 1.2, 2)
    slant = rng.uniform(-0.2, 0.2)
    shift = rng.uniform(-3.5, 3.5, 2) * SUPERSAMPLE
    forward = (
        np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        @ np.array([[1, slant], [0, 1]])
        @ np.diag([scale_x, scale_y])
    )
    back = np.linalg.inv(forward)
    middle = np.array([(left + right) / 2, (top + bottom) / 2])
    offset = middle - back @ (np.array([side / 2, side / 2]) + shift)
    coefficients = (back[0, 0], back[0, 1], offset[0], back[1, 0], back[1, 1], offset[1])
    glyph = canvas.transform((side, side), Image.AFFINE, coefficients, Image.BILINEAR)

    glyph = glyph.filter(ImageFilter.GaussianBlur(rng.uniform(0.3, 1.6) * SUPERSAMPLE))
    glyph = glyph.resize((SIZE, SIZE), Image.BOX)
    ink = np.asarray(glyph, np.float64) / 255

    paper = rng.uniform(0, 255)
    contrast = rng.uniform(50, 190)
    pen = paper + contrast if paper < 127.5 else paper - contrast
    slope = rng.uniform(-1.0, 1.0, 2)  # light falling from one side, gray levels a pixel
    y, x = np.mgrid[0:SIZE, 0:SIZE] - (SIZE - 1) / 2
    image = paper + (pen - paper) * ink + slope[0] * x + slope[1] * y
    image += rng.normal(0, rng.uniform(5, 28), image.shape)
    return np.clip(np.rint(image), 0, 255).astype(np.uint8)


def samples(count, seed, font_paths):
    """`count` images, uint8 [count, SIZE, SIZE], and labels, int64; classes in turn."""
    rng = np.random.default_rng(seed)
    fonts = load_fonts(font_paths)
    labels = np.arange(count) % len(CLASSES)
    images = np.empty((count, SIZE, SIZE), np.uint8)
    for i, label in enumerate(labels):
        images[i] = render(rng, fonts[rng.integers(len(fonts))], CLASSES[label])
    return images, labels


def write_folder(folder, images, labels):
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.png"):
        old.unlink()
    lines = []
    for i, (image, label) in enumerate(zip(images, labels)):
        name = f"{i:04d}_{CLASSES[label]}.png"
        Image.fromarray(image, "L").save(folder / name, optimize=True)
        lines.append(f"{name} {label}\n")
    (folder / "labels.txt").write_text("".join(lines))


def main():
    here = pathlib.Path(__file__).resolve().parent
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parent / "glyphs"
    images, labels = samples(TEST_COUNT, TEST_SEED, FONTS + HELD_OUT_FONTS)
    write_folder(out / "test", images, labels)
    images, labels = samples(CALIBRATION_COUNT, CALIBRATION_SEED, FONTS)
    write_folder(out / "calibration", images, labels)
    (out / "classes.txt").write_text("".join(c + "\n" for c in CLASSES))
    total = sum(os.path.getsize(p) for p in out.glob("*/*.png"))
    print(f"{out}: {TEST_COUNT} test and {CALIBRATION_COUNT} calibration images, {total} bytes")


if __name__ == "__main__":
    main()
