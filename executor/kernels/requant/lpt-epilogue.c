/* executor/kernels/requant/lpt-epilogue.c - the table of epilogues
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/eltwise/eltwise.h"
#include "executor/kernels/requant/requant.h"

static const LptEpilogueKernel kernels[] = {
#define LPT_EPILOGUE_KERNEL(set, isa, table_isa) \
  { "epilogue__" #table_isa, LPT_CPU_##set, lpt_epilogue__##isa, lpt_eltwise_add__##isa, lpt_eltwise_table__##table_isa },
#include "executor/kernels/requant/requant.def"
#undef LPT_EPILOGUE_KERNEL
};

const LptEpilogueKernel *
lpt_epilogue_kernels (size_t *n)
{
  if (n)
    *n = sizeof kernels / sizeof kernels[0];
  return kernels;
}

const LptEpilogueKernel *
lpt_epilogue_kernel (LptCpu cpu)
{
  const LptEpilogueKernel *row = kernels;

  while (!lpt_cpu_has (cpu, row->needs))
    row++;
  return row;
}

/* Whether a zero point and limits are those of codes of 8 bits. */
static bool
is_byte (int32_t zp, int32_t lo, int32_t hi)
{
  return zp >= -128 && zp <= 255 && lo >= -128 && hi <= 255 && lo <= hi && (lo >= 0 || hi <= 127);
}

/* With p = acc * mult, e = -shift >= 1 and s = 31 + e, what the schemes make of p lies at n or above exactly when
 *
 *   single, rest r   p >= n 2^s - 2^(s-1) - r
 *   two-step         floor ((p + 2^30) / 2^31) >= n 2^e - 2^(e-1),  the right side whole:  p >= n 2^s - 2^(s-1) - 2^30
 *   double           where n >= 1, the same: ties of what is not negative go up. Where n <= 0 ties go down, so
 *                    floor ((p + 2^30) / 2^31) >= n 2^e - 2^(e-1) + 1:                     p >= n 2^s - 2^(s-1) + 2^30
 *
 * Two-step is single with a rest of 2^30, and so is double where limits leave out all below the zero point: no step
 * n <= 0 is left. Where they leave in none above it (hi <= zp) the rest would be -2^30; between, no rest serves both
 * halves, since 2^31 is more than mult. p = 2^62 alone saturates on the way, which mult != -2^31 excludes; a multiplier
 * of 0 gives 0 by any shift. */
bool
lpt_epilogue_to_single (LptEpilogue *e, size_t channels, int32_t *shift, int32_t *rest)
{
  if (e->store != LPT_STORE_Q8 || e->rest ||
      !(e->scheme == LPT_REQUANT_TWO_STEP || (e->scheme == LPT_REQUANT_DOUBLE && e->lo >= e->zp)))
    return false;
  for (size_t c = 0; c < channels; c++)
    if (e->mult[c] == INT32_MIN || (e->mult[c] != 0 && (e->shift[c] > -1 || e->shift[c] < -31)))
      return false;

  for (size_t c = 0; c < channels; c++)
    {
      shift[c] = e->mult[c] != 0 ? e->shift[c] : -1;
      rest[c] = e->mult[c] != 0 ? 1 << 30 : 0;
    }
  e->scheme = LPT_REQUANT_SINGLE;
  e->shift = shift;
  e->rest = rest;
  return true;
}

void
lpt_epilogue_prepare (LptEpilogue *e, size_t channels, double reach)
{
  bool room = true, one_zp = true;

  e->fast = is_byte (e->zp, e->lo, e->hi);
  for (size_t c = 0; c < channels && e->store == LPT_STORE_Q8 && e->scheme != LPT_REQUANT_FLOAT; c++)
    {
      /* The vector shifts take 32 to 62 (single) and 0 to 31 (others), and -2^31 squared would saturate. */
      bool ok = e->scheme == LPT_REQUANT_SINGLE ? e->shift[c] <= -1 && e->shift[c] >= -31
                                                : e->shift[c] <= 0 && e->shift[c] >= -31;

      e->fast = e->fast && ok && e->mult[c] != INT32_MIN;
      room = room && e->shift[c] >= -20;
    }
  for (size_t c = 1; c < channels && e->weight_zp; c++)
    one_zp = one_zp && e->weight_zp[c] == e->weight_zp[0];
  e->fusable = one_zp && (e->store != LPT_STORE_Q8
                          || (e->fast && room && (e->scheme == LPT_REQUANT_SINGLE || e->scheme == LPT_REQUANT_FLOAT)));
  e->sum_fusable = e->fusable && e->store == LPT_STORE_Q8 && e->add && !e->table && !e->add_table &&
                   e->add->form == LPT_ADD_SINGLE && is_byte (e->add->zp, e->add->lo, e->add->hi) &&
                   lpt_add_fits_pairs (e->add);
  e->by_fma = e->fusable && e->store == LPT_STORE_Q8 && e->scheme == LPT_REQUANT_SINGLE && e->fma.half &&
              lpt_requant_fma (e, channels, reach);
  e->by_one_fma = e->by_fma;
  for (size_t c = 0; c < channels && e->by_one_fma; c++)
    e->by_one_fma = e->fma.low[c] == 0;
}

void
lpt_epilogue_finish (const LptEpilogueKernel *kernel, const LptEpilogue *e, size_t rows, size_t channels, uint8_t *out,
                     size_t out_stride, const uint8_t *residual, size_t residual_stride)
{
  if (e->table)
    kernel->table (e->table, rows, channels, out, out_stride, out, out_stride);
  if (e->add)
    kernel->add (e->add, rows, channels, out, out_stride, 1, residual, residual_stride, 1, out, out_stride);
  if (e->add && e->add_table)
    kernel->table (e->add_table, rows, channels, out, out_stride, out, out_stride);
}
