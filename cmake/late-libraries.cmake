# libzip and gdk-pixbuf are opened at run time (frontends/data/late-library.h) under the names LPT_LIBZIP_SONAME, LPT_PIXBUF_SONAME. Without
# one of these both are linked: LPT_LATE_LIBRARIES is OFF, LPT_LINKED has the targets and LPT_PC_OPTIONAL the modules of pkg-config.
#
# SPDX-License-Identifier: Apache-2.0

foreach (optional LIBZIP PIXBUF)
  set (LPT_${optional}_SONAME "")
  if (LPT_LATE_LIBRARIES AND LPT_${optional}_FOUND)
    # The module's own library stands in front of what it needs.
    list (GET LPT_${optional}_LINK_LIBRARIES 0 library)
    if (CMAKE_READELF)
      execute_process (COMMAND ${CMAKE_READELF} -d ${library} OUTPUT_VARIABLE dynamic ERROR_QUIET)
      if (dynamic MATCHES "SONAME[^[]*\\[([^]]+)\\]")
        set (LPT_${optional}_SONAME ${CMAKE_MATCH_1})
      endif ()
    endif ()
    if (NOT LPT_${optional}_SONAME)
      message (STATUS "${library} has no name to open it by: it is linked")
      set (LPT_LATE_LIBRARIES OFF)
    endif ()
  endif ()
endforeach ()
set (LPT_LATE_DEFINITIONS LPT_SONAME_LIBZIP="${LPT_LIBZIP_SONAME}" LPT_SONAME_PIXBUF="${LPT_PIXBUF_SONAME}")
# For packages, which depend on them.
file (WRITE ${CMAKE_CURRENT_BINARY_DIR}/late-libraries "")
if (LPT_LATE_LIBRARIES)
  file (APPEND ${CMAKE_CURRENT_BINARY_DIR}/late-libraries "${LPT_LIBZIP_SONAME}\n${LPT_PIXBUF_SONAME}\n")
  list (APPEND LPT_LATE_DEFINITIONS LPT_LATE_LIBRARIES)
endif ()

set (LPT_HAVE "")
set (LPT_LINKED "")
set (LPT_PC_OPTIONAL "")
foreach (optional LIBZIP PIXBUF)
  if (LPT_${optional}_FOUND)
    list (APPEND LPT_HAVE LPT_HAVE_${optional})
    if (NOT LPT_LATE_LIBRARIES)
      list (APPEND LPT_LINKED PkgConfig::LPT_${optional})
      string (APPEND LPT_PC_OPTIONAL " ${LPT_${optional}_MODULE_NAME}")
    endif ()
  endif ()
endforeach ()
