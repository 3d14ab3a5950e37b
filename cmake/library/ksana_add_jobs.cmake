# ksana_add_jobs(TARGET ITEM…): the jobs that the items declare with KSANA_JOB belong to TARGET, a
# program. An ITEM is a source file, or a CMake target: a static, object or interface library.
# Links ksana::ksana, too.
#
# The linker takes from a static library only what something refers to. Nothing refers to a
# declaration, so a static library with jobs must be linked whole, or its jobs vanish silently.
function(ksana_add_jobs target)
    target_link_libraries(${target} PRIVATE ksana::ksana)
    foreach(item IN LISTS ARGN)
        if(NOT TARGET ${item})
            get_filename_component(file ${item} ABSOLUTE)
            if(NOT EXISTS ${file})
                get_source_file_property(generated ${file} GENERATED)
                if(NOT generated)
                    message(FATAL_ERROR "ksana_add_jobs: ${item} is neither a target nor a file")
                endif()
            endif()
            target_sources(${target} PRIVATE ${file})
            continue()
        endif()
        get_target_property(type ${item} TYPE)
        if(type STREQUAL "STATIC_LIBRARY")
            # Besides the ordinary link below, which brings what the library needs, and which adds
            # nothing once all of it is there. So it does no harm if the program or another library
            # links it as well.
            target_link_options(${target} PRIVATE
                "LINKER:--whole-archive,$<TARGET_FILE:${item}>,--no-whole-archive")
        elseif(NOT type MATCHES "^(OBJECT|INTERFACE)_LIBRARY$")
            message(FATAL_ERROR "ksana_add_jobs: ${item} is a ${type}. Jobs belong to the program "
                                "that has the scheduler: use a static or object library")
        endif()
        target_link_libraries(${target} PRIVATE ${item})
    endforeach()
endfunction()
