#pragma once

namespace ksana::server {

// Gives back what only the start of the process needed: free memory of the heap, and pages of code
// (the dynamic linker, constructors of libraries, settings, migrations) that nothing runs any more.
// Code that is still wanted comes back from the page cache at its next call, a few microseconds
// each. Any thread; others may run meanwhile.
void ReleaseStartMemory();

}  // namespace ksana::server
