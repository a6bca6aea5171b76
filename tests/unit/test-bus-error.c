/* test-bus-error.c - a mapped file that shrinks while an output is being written: one line, exit code 1, nothing left
 * behind
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cmd.h"
#include "cli/limits.h"

#include <lpt/lpt-out-file.h>

#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 65536   /* at least a page of every machine */

/* In a process of its own: @n outputs are half written, one of them done, when the file below the mapping goes. */
static void
shrink (const char *folder, guint n)
{
  g_autofree char *model = g_build_filename (folder, "model", NULL);
  g_autofree LptOutFile *files = g_new0 (LptOutFile, n);
  int fd = g_open (model, O_CREAT | O_RDWR, 0600);
  g_assert_true (fd >= 0 && ftruncate (fd, PAGE) == 0);
  const volatile char *bytes = mmap (NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
  g_assert_true (bytes != MAP_FAILED);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("%s/out%u", folder, i);
      g_assert_true (lpt_out_file_open (&files[i], name, NULL));
      fputs ("half", files[i].stream);
    }
  g_assert_true (lpt_out_file_finish (&files[0], NULL) && lpt_out_file_commit (&files[0], NULL));
  lpt_out_file_clear (&files[0]);
  cmd_limits_catch_bus_error ();
  g_assert_true (ftruncate (fd, 0) == 0);
  (void) bytes[0];
  _exit (0);
}

static void
test_shrink (void)
{
  if (g_test_subprocess ())
    {
      shrink (g_getenv ("LPT_TEST_FOLDER"), 4);
      return;
    }
  g_autofree char *folder = g_dir_make_tmp ("lpt-XXXXXX", NULL);
  g_autoptr (GString) found = g_string_new (NULL);
  const char *name;
  g_assert_nonnull (folder);
  g_setenv ("LPT_TEST_FOLDER", folder, TRUE);
  g_test_trap_subprocess ("/bus-error/shrink", 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stderr ("*lptc: a file became shorter while it was read*");
  GDir *dir = g_dir_open (folder, 0, NULL);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      if (!g_str_equal (name, "model"))
        g_string_append_printf (found, "%s ", name);
      g_unlink (path);
    }
  g_dir_close (dir);
  g_rmdir (folder);
  /* What had its name before stays. */
  g_assert_cmpstr (found->str, ==, "out0 ");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bus-error/shrink", test_shrink);
  return g_test_run ();
}
