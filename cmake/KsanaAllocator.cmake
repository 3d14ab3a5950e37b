# What one thread allocates another frees: docs/decisions/0025-an-allocator-for-many-threads.md.
# Without it everything works, with the C library's. Sanitizers bring their own.
find_library(KSANA_MIMALLOC mimalloc)

# ksana_use_allocator(PROGRAM): before the C library, and not dropped although nobody calls it by
# name.
function(ksana_use_allocator program)
    if(KSANA_MIMALLOC AND KSANA_SANITIZE STREQUAL "" AND NOT KSANA_FUZZ)
        target_link_libraries(${program} PRIVATE
                              -Wl,--push-state,--no-as-needed ${KSANA_MIMALLOC} -Wl,--pop-state)
    endif()
endfunction()
