/* test-peak.c - each vector level has a peak, the scalar one none
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "executor/kernels/lpt-peak.h"

int
main (void)
{
  static const char *const names[] = { "avx2", "avxvnni", "avx512vnni", "amx", "neon", "neondot" };
  LptCpu machine = lpt_cpu_detect ();

  if (lpt_peak_measure (0) != 0)
    {
      printf ("not ok: the scalar level has a peak\n");
      return 1;
    }
  for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
    {
      LptCpu cpu = machine;
      double peak;

      lpt_cpu_limit (&cpu, names[i]);
      if (strcmp (lpt_cpu_level_name (cpu), names[i]) != 0)
        continue;
      peak = lpt_peak_measure (cpu);
      if (!(peak > 0))
        {
          printf ("not ok: %s has no peak\n", names[i]);
          return 1;
        }
      printf ("%s: %.1f GMAC/s\n", names[i], peak);
    }
  return 0;
}
