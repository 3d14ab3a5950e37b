#pragma once

namespace ksana::store_sqlite {

// The name of a VFS for the one connection that writes, and only with synchronous=FULL.
//
// SQLite writes every page of a commit to the log by two calls, its header of 24 bytes and the
// page, and a commit has dozens of pages: the calls cost as much as all else that the kernel does
// for it. This VFS gathers what follows each other and writes it by few. All of it is in the file
// before SQLite asks for the file to be synced (with FULL at the end of every commit, before other
// connections are told of its pages), read, measured or closed. What is lost when the process ends
// before that belongs to no commit.
//
// Only the log is different: other files are those of the default VFS. Null: there is none.
const char* GatheringLogVfs();

}  // namespace ksana::store_sqlite
