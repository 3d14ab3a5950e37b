#include "ksana/ksana.hpp"

int main(int argc, char** argv) { return ksana::RunJobs(argc, argv); }
