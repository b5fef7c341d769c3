# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""What scripts/check-docs is made of."""
