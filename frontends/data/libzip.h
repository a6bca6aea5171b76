/* libzip.h - libzip's functions, once it was opened (late-library.h)
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <zip.h>

#include "frontends/data/late-library.h"

G_BEGIN_DECLS

#define LIBZIP_FUNCTIONS(F) \
  F (close, zip_close) F (discard, zip_discard) F (error_fini, zip_error_fini) \
  F (error_init, zip_error_init_with_code) F (error_string, zip_error_strerror) F (add, zip_file_add) \
  F (file_close, zip_fclose) F (file_open, zip_fopen) F (file_open_index, zip_fopen_index) F (file_read, zip_fread) \
  F (file_string, zip_file_strerror) F (get_name, zip_get_name) F (get_num_entries, zip_get_num_entries) \
  F (locate, zip_name_locate) F (open, zip_open) F (set_compression, zip_set_file_compression) \
  F (source_buffer, zip_source_buffer) F (source_free, zip_source_free) F (stat_index, zip_stat_index) \
  F (string, zip_strerror)

typedef struct
{
  LIBZIP_FUNCTIONS (LATE_MEMBER)
} Libzip;

/* After libzip_open() alone. @path: what needs it. */
extern Libzip libzip;
gboolean libzip_open (const char *path, GError **error);

G_END_DECLS
