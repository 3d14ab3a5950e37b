#pragma once

#include <string>
#include <string_view>

#include "apps/ksana/toolkit/process.hpp"
#include "ksana/base/error/result.hpp"

namespace ksana::app {

// A file that a person edits: made with a text, deleted at the end unless it is kept.
class EditedFile {
  public:
    static Result<EditedFile> Make(std::string_view text, const Process& process);
    ~EditedFile();
    EditedFile(EditedFile&& other) noexcept;
    EditedFile& operator=(EditedFile&&) = delete;
    EditedFile(const EditedFile&) = delete;
    EditedFile& operator=(const EditedFile&) = delete;

    // Runs $VISUAL, else $EDITOR, else vi, and waits for its end; the text that is there then.
    Result<std::string> Edit(const Process& process);

    // It stays, so that nobody's work is lost.
    const std::string& Keep();

  private:
    explicit EditedFile(std::string path) : path_(std::move(path)) {}

    std::string path_;
    bool kept_ = false;
};

}  // namespace ksana::app
