#include <cstdlib>
#include <new>

// The operators of mimalloc abort when there is no memory, whatever new_handler is set: it is
// compiled as C, which cannot throw. These throw, as the language says, and use its malloc. Those
// that it has for `delete`, and those that return null, do.

#ifdef KSANA_MIMALLOC

namespace {

void* OrThrow(void* memory) {
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

void* Aligned(std::size_t size, std::align_val_t alignment) {
    const auto unit = static_cast<std::size_t>(alignment);
    return OrThrow(std::aligned_alloc(unit, (size + unit - 1) / unit * unit));
}

}  // namespace

void* operator new(std::size_t size) { return OrThrow(std::malloc(size)); }
void* operator new[](std::size_t size) { return OrThrow(std::malloc(size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    return Aligned(size, alignment);
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
    return Aligned(size, alignment);
}

#endif
