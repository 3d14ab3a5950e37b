# ksana_late_library(module scope from macro): the module knows the headers of the imported library
# `from` without being linked to it, and loads it when it needs it
# (base/process/late_library.hpp). `scope` is PUBLIC where the module's own headers show them, else
# PRIVATE. `macro` becomes the name by which the system's loader knows the library.
function(ksana_late_library module scope from macro)
    get_target_property(file ${from} LOCATION)
    execute_process(COMMAND ${CMAKE_READELF} -d ${file} OUTPUT_VARIABLE dynamic ERROR_QUIET)
    if(NOT dynamic MATCHES "\\(SONAME\\)[^[]*\\[([^]\n]+)\\]")
        message(FATAL_ERROR "${file} is no shared library: Ksana loads ${from} when it is needed")
    endif()
    set(soname ${CMAKE_MATCH_1})
    target_include_directories(ksana_${module} SYSTEM ${scope}
                               $<TARGET_PROPERTY:${from},INTERFACE_INCLUDE_DIRECTORIES>)
    target_compile_definitions(ksana_${module} PRIVATE ${macro}="${soname}")
endfunction()
