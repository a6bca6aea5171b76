/* executor/kernels/lstm/lpt-lstm.c - the table of steps of an LSTM
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/lstm/lstm.h"

static const LptLstmKernel kernels[] = {
#define LPT_LSTM_KERNEL(set, isa) { "lstm__" #isa, LPT_CPU_##set, lpt_lstm_step__##isa },
#include "executor/kernels/lstm/lstm.def"
#undef LPT_LSTM_KERNEL
};

const LptLstmKernel *
lpt_lstm_kernels (size_t *n)
{
  if (n)
    *n = sizeof kernels / sizeof kernels[0];
  return kernels;
}

const LptLstmKernel *
lpt_lstm_kernel (LptCpu cpu)
{
  const LptLstmKernel *row = kernels;

  while (!lpt_cpu_has (cpu, row->needs))
    row++;
  return row;
}
