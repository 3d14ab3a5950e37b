# ksana_lazy_library(module scope from macro): the module uses the headers of the imported library
# `from` without linking it, and loads the library on first use (base/process/lazy_library.hpp).
# `scope` is PUBLIC if the module's own headers include them, else PRIVATE. `macro` is defined as
# the SONAME of the library.
function(ksana_lazy_library module scope from macro)
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
