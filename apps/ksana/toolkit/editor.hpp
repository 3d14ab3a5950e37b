#pragma once

#include <string>
#include <string_view>

#include "apps/ksana/toolkit/process.hpp"
#include "ksana/base/error/result.hpp"

namespace ksana::app {

// A temporary file that the user edits. The destructor deletes it unless Keep() was called. Owned
// by the command that edits; one thread. It lies in $TMPDIR or /tmp and is readable by its owner
// only.
class EditedFile {
  public:
    // Creates the file with this text. kInternal if it cannot be created or written.
    static Result<EditedFile> Make(std::string_view text, const Process& process);
    ~EditedFile();
    EditedFile(EditedFile&& other) noexcept;
    EditedFile& operator=(EditedFile&&) = delete;
    EditedFile(const EditedFile&) = delete;
    EditedFile& operator=(const EditedFile&) = delete;

    // Runs $VISUAL, else $EDITOR, else vi, waits for it to exit and returns the text of the file.
    // kInternal if the editor exits with an error.
    Result<std::string> Edit(const Process& process);

    // Keeps the file, so that the user's edits are not lost, and returns its path.
    const std::string& Keep();

  private:
    explicit EditedFile(std::string path) : path_(std::move(path)) {}

    std::string path_;
    bool kept_ = false;
};

}  // namespace ksana::app
