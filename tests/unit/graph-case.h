/* graph-case.h - graphs of texts, and the files of a folder
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-text.h>

/* The graph that @text is, which is right. */
static inline LptGraph *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  LptGraph *graph = lpt_graph_from_text (text, -1, "text", &error);

  g_assert_no_error (error);

  return graph;
}

/* Paths of files below @folder whose names end in @suffix, which are added to @found. */
static inline void
find_files (const char *folder,
            const char *suffix,
            GPtrArray  *found)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (g_file_test (path, G_FILE_TEST_IS_DIR))
        find_files (path, suffix, found);
      else if (g_str_has_suffix (name, suffix))
        g_ptr_array_add (found, g_steal_pointer (&path));
    }
}
