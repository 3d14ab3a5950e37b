#include "ksana/server/start_memory.hpp"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstdint>

namespace ksana::server {
namespace {

// Only what is executable and never written: such a page is the file's, byte for byte, and can be
// mapped again at any time. Data, relocated tables among them, is left alone.
int ReleaseCode(dl_phdr_info* object, std::size_t /*size*/, void* /*unused*/) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const auto& part = object->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || (part.p_flags & (PF_X | PF_W)) != PF_X) continue;
        const std::uintptr_t start = (object->dlpi_addr + part.p_vaddr + page - 1) / page * page;
        const std::uintptr_t end = (object->dlpi_addr + part.p_vaddr + part.p_memsz) / page * page;
        if (end <= start) continue;
        // It is advice: where the system does not take it (the vDSO), nothing is lost.
        (void)madvise(std::bit_cast<void*>(start), end - start, MADV_DONTNEED);
    }
    return 0;
}

}  // namespace

void ReleaseStartMemory() {
    (void)malloc_trim(0);
    (void)dl_iterate_phdr(ReleaseCode, nullptr);
}

}  // namespace ksana::server
