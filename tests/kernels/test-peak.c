/* test-peak.c - each vector level has a peak, the scalar one none
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include <lpt/lpt-cpu.h>

int
main (void)
{
  LptCpu machine = lpt_cpu_detect ();

  if (lpt_cpu_peak (0) != 0)
    {
      printf ("not ok: the scalar level has a peak\n");
      return 1;
    }
  /* The first level is scalar. */
  for (unsigned i = 1; lpt_cpu_level_at (i); i++)
    {
      const char *name = lpt_cpu_level_at (i);
      LptCpu cpu = machine;
      double peak;

      lpt_cpu_limit (&cpu, name);
      if (strcmp (lpt_cpu_level_name (cpu), name) != 0)
        continue;
      peak = lpt_cpu_peak (cpu);
      if (!(peak > 0))
        {
          printf ("not ok: %s has no peak\n", name);
          return 1;
        }
      printf ("%s: %.1f GMAC/s\n", name, peak);
    }
  return 0;
}
