/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * types.h - big-endian types and bit fields of the hardware interface, for
 * kernel C, user C and C++20.
 *
 * Everything the device and software share is big-endian. In C a value is a
 * __be16/32/64, so sparse reports a forgotten swap; in C++ it is a class whose
 * value can only be reached through get(), so the compiler does.
 *
 * Byte-aligned formats are plain structures of these types. Bit-packed ones
 * (contexts, capabilities, registers) are arrays of big-endian words, and a
 * field of them is named by its structure, the byte offset of its word, and its
 * highest and lowest bit in that word, as the manuals' tables write it.
 */
#ifndef VCX_TYPES_H
#define VCX_TYPES_H

#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/types.h>
#include <asm/byteorder.h>
#else
#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>
#endif

#ifdef __cplusplus

#include <bit>
#include <type_traits>

namespace vcx {

/* A big-endian T in memory; trivially copyable, as large as T. */
template <class T>
class be {
	T raw_;

	static constexpr T swap(T v)
	{
		if constexpr (std::endian::native == std::endian::big)
			return v;
		else if constexpr (sizeof(T) == 2)
			return __builtin_bswap16(v);
		else if constexpr (sizeof(T) == 4)
			return __builtin_bswap32(v);
		else
			return __builtin_bswap64(v);
	}

public:
	be() = default;
	explicit constexpr be(T v) : raw_(swap(v)) {}
	constexpr be &operator=(T v)
	{
		raw_ = swap(v);
		return *this;
	}
	constexpr T get() const { return swap(raw_); }
};

} /* namespace vcx */

typedef vcx::be<uint16_t> vcx_be16;
typedef vcx::be<uint32_t> vcx_be32;
typedef vcx::be<uint64_t> vcx_be64;
#define VCX_ASSERT(condition, message) static_assert(condition, message)

static inline uint32_t vcx_be32_get(vcx_be32 v)
{
	return v.get();
}

static inline vcx_be32 vcx_be32_make(uint32_t v)
{
	return vcx_be32(v);
}

#else /* C */

typedef __be16 vcx_be16;
typedef __be32 vcx_be32;
typedef __be64 vcx_be64;
#ifdef __KERNEL__
#define VCX_ASSERT(condition, message) static_assert(condition, message)
#else
#define VCX_ASSERT(condition, message) _Static_assert(condition, message)
#endif

#ifndef __force
#define __force
#endif

#ifndef __KERNEL__
/* be32toh() is not there in strict C11. */
static inline __u32 vcx_swap32(__u32 v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return v;
#else
	return __builtin_bswap32(v);
#endif
}
#endif

static inline __u32 vcx_be32_get(vcx_be32 v)
{
#ifdef __KERNEL__
	return be32_to_cpu(v);
#else
	return vcx_swap32((__force __u32)v);
#endif
}

static inline vcx_be32 vcx_be32_make(__u32 v)
{
#ifdef __KERNEL__
	return cpu_to_be32(v);
#else
	return (__force vcx_be32)vcx_swap32(v);
#endif
}

#endif /* __cplusplus */

/* States the size of a structure that the device and software share. */
#define VCX_SIZE(s, bytes)                                                     \
	VCX_ASSERT(sizeof(struct s) == (bytes),                                \
		   "struct " #s " must be " #bytes " bytes")

/* States where a member of such a structure lies. */
#define VCX_AT(s, member, offset)                                              \
	VCX_ASSERT(offsetof(struct s, member) == (offset),                     \
		   #s "." #member " must be at " #offset)

static inline __u32 vcx_field_mask(unsigned int high, unsigned int low)
{
	return (0xffffffffu >> (31 - high + low)) << low;
}

static inline __u32 vcx_field_get(const vcx_be32 *dw, unsigned int byte,
				  unsigned int high, unsigned int low)
{
	return (vcx_be32_get(dw[byte / 4]) & vcx_field_mask(high, low)) >> low;
}

/* Bits of value above the field's width are dropped. */
static inline void vcx_field_set(vcx_be32 *dw, unsigned int byte,
				 unsigned int high, unsigned int low,
				 __u32 value)
{
	__u32 mask = vcx_field_mask(high, low);
	__u32 word = vcx_be32_get(dw[byte / 4]) & ~mask;

	dw[byte / 4] = vcx_be32_make(word | ((value << low) & mask));
}

static inline __u64 vcx_field64_get(const vcx_be32 *dw, unsigned int byte)
{
	return (__u64)vcx_be32_get(dw[byte / 4]) << 32 |
	       vcx_be32_get(dw[byte / 4 + 1]);
}

static inline void vcx_field64_set(vcx_be32 *dw, unsigned int byte, __u64 value)
{
	dw[byte / 4] = vcx_be32_make((__u32)(value >> 32));
	dw[byte / 4 + 1] = vcx_be32_make((__u32)value);
}

/*
 * VCX_GET(p, FIELD) and VCX_SET(p, FIELD, value), where p points to the
 * structure that FIELD belongs to; a field of another structure does not
 * compile. VCX_GET64 and VCX_SET64 are for fields of 64 bits.
 */
#define VCX_FIELD(s, byte, high, low) (struct s *)0, byte, high, low
#define VCX_FIELD64(s, byte) (struct s *)0, byte

#define VCX_IS_A(p, s) (0 * sizeof((p) == (s)))

#define VCX_GET(p, field) VCX_GET_(p, field)
#define VCX_GET_(p, s, byte, high, low)                                        \
	vcx_field_get((p)->dw + VCX_IS_A(p, s), byte, high, low)
#define VCX_SET(p, field, value) VCX_SET_(p, field, value)
#define VCX_SET_(p, s, byte, high, low, value)                                 \
	vcx_field_set((p)->dw + VCX_IS_A(p, s), byte, high, low, value)
#define VCX_GET64(p, field) VCX_GET64_(p, field)
#define VCX_GET64_(p, s, byte) vcx_field64_get((p)->dw + VCX_IS_A(p, s), byte)
#define VCX_SET64(p, field, value) VCX_SET64_(p, field, value)
#define VCX_SET64_(p, s, byte, value)                                          \
	vcx_field64_set((p)->dw + VCX_IS_A(p, s), byte, value)

#endif /* VCX_TYPES_H */
