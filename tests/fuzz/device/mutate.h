/* SPDX-License-Identifier: GPL-2.0-only */
/* Mutations that keep the records whole. */
#ifndef DEVICE_MUTATE_H
#define DEVICE_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* Change @size bytes at @data in place, @max_size at most; returns the new size. */
size_t mutate(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
/* Put parts of @a and @b together at @out; returns the size. */
size_t cross_over(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
		  size_t max_size, unsigned int seed);

#endif
