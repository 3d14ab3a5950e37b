#pragma once

#include <unistd.h>

namespace ksana {

// A file descriptor that is closed by the destructor; a negative number is none.
class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    int number() const { return number_; }
    bool ok() const { return number_ >= 0; }

  private:
    const int number_;
};

}  // namespace ksana
