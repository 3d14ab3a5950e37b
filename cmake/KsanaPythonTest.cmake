# ksana_python_test(NAME SCRIPT a/b.py [ARGUMENTS …] LABELS l… TIMEOUT s [SERIAL] [DEBIAN]): a suite
# in Python that can import tests/kit. SCRIPT is relative to tests/. SERIAL: no other test runs
# at the same time. DEBIAN: needs modules of Debian packages, which other interpreters do not see.
function(ksana_python_test name)
    cmake_parse_arguments(PARSE_ARGV 1 P "SERIAL;DEBIAN" "SCRIPT;TIMEOUT" "ARGUMENTS;LABELS")
    set(python Python3::Interpreter)
    if(P_DEBIAN)
        set(python /usr/bin/python3)
    endif()
    add_test(NAME ${name} COMMAND ${python} ${PROJECT_SOURCE_DIR}/tests/${P_SCRIPT}
             ${P_ARGUMENTS})
    set_tests_properties(${name} PROPERTIES LABELS "${P_LABELS}" TIMEOUT ${P_TIMEOUT}
                         RUN_SERIAL ${P_SERIAL} ENVIRONMENT PYTHONPATH=${PROJECT_SOURCE_DIR}/tests)
endfunction()
