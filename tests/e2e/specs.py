#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The netlink specifications in kernel-patch/spec say what the uapi headers say: every attribute and every command
has its number, and none of an enumeration is left out. The compiler compares, with _Static_assert()."""
import glob
import os
import subprocess
import sys
import tempfile

import yaml

ROOT = os.environ["ROOT"]
ODD_MAXIMA = {"smc-nla-seid-": "SMC_NLA_SEID_TABLE_MAX"}


def constant(prefix, name):
    return (prefix + name).upper().replace("-", "_")


def numbered(entries):
    """(name, number): one without a value has that of the entry before it plus one."""
    number = 0
    for entry in entries:
        number = entry.get("value", number + 1)
        yield entry["name"], number


def definitions(spec):
    """Those that the generated header names after the family."""
    for definition in spec.get("definitions", []):
        name = constant(f"{spec['name']}-", definition["name"])
        if definition["type"] == "const":
            yield f"{name} == {definition['value']}"
        for number, entry in enumerate(definition.get("entries", [])):
            yield f"{name}_{constant('', entry if isinstance(entry, str) else entry['name'])} == {number}"


def asserts(spec):
    if spec["protocol"] == "genetlink":
        yield from definitions(spec)
    for group in spec["attribute-sets"]:
        last = 0
        for name, last in numbered(group["attributes"]):
            yield f"{constant(group['name-prefix'], name)} == {last}"
        prefix = group["name-prefix"]
        yield f"{ODD_MAXIMA.get(prefix) or constant(prefix, 'max')} == {last}"
    operations = spec["operations"]
    for name, number in numbered(operations["list"]):
        yield f"{constant(operations['name-prefix'], name)} == {number}"


def compiles(header, conditions):
    text = f"#include <stdint.h>\n#include <linux/types.h>\n#include <{header}>\n"
    text += "".join(f'_Static_assert({c}, "{c}");\n' for c in conditions)
    with tempfile.NamedTemporaryFile("w", suffix=".c") as file:
        file.write(text)
        file.flush()
        done = subprocess.run(["gcc", "-fsyntax-only", "-I", os.path.join(ROOT, "lib/uapi"), file.name],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode == 0, done.stdout


def main():
    failed = 0
    for number, path in enumerate(sorted(glob.glob(os.path.join(ROOT, "kernel-patch/spec/*.yaml"))), 1):
        with open(path, encoding="utf-8") as file:
            spec = yaml.safe_load(file)
        conditions = list(asserts(spec))
        good, says = compiles(spec["uapi-header"], conditions)
        # A comparison that cannot fail proves nothing.
        bad, _ = compiles(spec["uapi-header"], [*conditions[:-1], conditions[-1] + " + 1"])
        good = good and not bad
        failed += not good
        print(f"{'' if good else 'not '}ok {number} - {os.path.basename(path)}: {len(conditions)} numbers as in {spec['uapi-header']}")
        print(says, end="")
    return 1 if failed else 0


sys.exit(main())
