/* SPDX-License-Identifier: GPL-2.0-only */
/* Laid before a source file of each module by Kbuild: what MODULE_VERSION() would leave. dkms compares it. */
static const char smcd_version[] __attribute__((used, section(".modinfo"), aligned(1))) = "version=" SMCD_VERSION;
