"""Devices that are not at fault: dumps in other forms, in part, of several samples, or of a scheme that agrees."""
import os
import shutil

import numpy as np

from bundle import dump, empty


def names_of(bundle):
    return [t["name"] for t in bundle.tensors]


def in_part(rng, bundle, folder):
    names = [n for n in names_of(bundle) if rng.random() < 0.4] or names_of(bundle)[-1:]
    dump(bundle, folder, {n: bundle.array(n) for n in names}, names)


def raw(rng, bundle, folder):
    for n in names_of(bundle):
        bundle.array(n).tofile(os.path.join(folder, bundle.file_name(n)[:-4] + rng.choice([".bin", ".raw"])))


def other_layout(rng, bundle, folder):
    """Images with their channels at the other end."""
    for n in names_of(bundle):
        a = bundle.array(n)
        if a.ndim == 4:
            a = np.moveaxis(a, -1, 1) if bundle.tensor[n].get("layout") == "NHWC" else np.moveaxis(a, 1, -1)
        np.save(os.path.join(folder, bundle.file_name(n)), np.ascontiguousarray(a))


def by_name(rng, bundle, folder):
    for n in names_of(bundle):
        plain = "".join(c if c.isalnum() or c in ".-" else "_" for c in n)
        if len(plain) < 120:
            np.save(os.path.join(folder, plain + ".npy"), bundle.array(n))
    np.save(os.path.join(folder, bundle.file_name(names_of(bundle)[0])), bundle.array(names_of(bundle)[0]))


def masked(rng, bundle, folder):
    """Where the mask is 0 anything stands."""
    draw = np.random.RandomState(rng.randrange(1 << 30))
    for n in names_of(bundle):
        a = np.array(bundle.array(n))
        if rng.random() < 0.5 and a.dtype != np.float32:
            mask = draw.rand(*a.shape) < 0.7
            a[~mask] = draw.randint(0, 100, a.shape)[~mask].astype(a.dtype)
            np.save(os.path.join(folder, bundle.file_name(n)[:-4] + ".mask.npy"), mask)
        np.save(os.path.join(folder, bundle.file_name(n)), a)


def hexadecimal(rng, bundle, folder):
    for n in names_of(bundle):
        a = bundle.array(n)
        with open(os.path.join(folder, bundle.file_name(n)[:-4] + ".hex"), "w") as f:
            bits = a.dtype.itemsize * 8
            f.write("\n".join("%0*x" % (bits // 4, v) for v in a.reshape(-1).view("u%d" % a.dtype.itemsize)) + "\n")


FORMS = [in_part, in_part, raw, other_layout, by_name, masked, hexadecimal]


def samples_in_part(rng, bundle, folder):
    for i in range(bundle.samples):
        names = [n for n in names_of(bundle) if rng.random() < 0.6] or names_of(bundle)[:1]
        dump(bundle, folder, {n: bundle.array(n, i) for n in names}, names, i)


def samples_permuted(rng, bundle, folder):
    """Whole samples in other places, their inputs with them."""
    for i in range(bundle.samples):
        j = (i + 1) % bundle.samples
        dump(bundle, folder, {n: bundle.array(n, j) for n in names_of(bundle)}, names_of(bundle), i)


def agreeing(first, second):
    """Whether two bundles hold the same tensors."""
    a, b = ({(t["name"], t.get("sample", 0)): t["xxh3"] for t in x.manifest["tensors"]} for x in (first, second))
    return a == b


def copied(rng, bundle, folder):
    shutil.rmtree(folder)
    shutil.copytree(os.path.join(bundle.path, "tensors"), folder)


def make(rng, bundle, folder):
    """One of the forms; says which."""
    empty(folder)
    form = rng.choice([samples_in_part, samples_permuted, copied] if bundle.samples > 1 else FORMS)
    form(rng, bundle, folder)
    return form.__name__
