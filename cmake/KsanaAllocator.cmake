# mimalloc, as one thread often frees what another has allocated:
# docs/decisions/0025-an-allocator-for-many-threads.md. Without it the program uses the C library's
# allocator. Sanitizers have their own.
find_library(KSANA_MIMALLOC mimalloc)

# ksana_use_allocator(PROGRAM): links mimalloc before the C library. --no-as-needed keeps it
# although no code calls it by name.
function(ksana_use_allocator program)
    if(KSANA_MIMALLOC AND KSANA_SANITIZE STREQUAL "" AND NOT KSANA_FUZZ)
        target_compile_definitions(${program} PRIVATE KSANA_MIMALLOC)
        target_link_libraries(${program} PRIVATE
                              -Wl,--push-state,--no-as-needed ${KSANA_MIMALLOC} -Wl,--pop-state)
    endif()
endfunction()
