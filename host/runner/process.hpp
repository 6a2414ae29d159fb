// A runner process: starts it, passes its output to a function, waits for its end.
//
// Thread-safety: one thread calls the constructor, wait() and the destructor. That thread must live as long as the process, because the
//                kernel ends the process when the thread ends. pid() and kill() by any thread.
// Lifetime:      the destructor kills the process and the other processes in its process group, and waits for the process.
// Errors:        pid() is -1 if the process could not be started; take_socket() then returns -1.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace backplane::runner {

// Descriptors that the process inherits.
inline constexpr int kSocketDescriptor = 3;       // its end of the channel's socket
inline constexpr int kCrashRecordDescriptor = 4;  // the file for record_crashes_in()

class Process {
 public:
  // Runs `program plugin runner WORDS`. A thread of this object calls `line` for each line that the process prints.
  Process(const std::string& program, const std::vector<std::string>& words, std::function<void(std::string_view)> line);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  int pid() const noexcept { return pid_; }
  // Returns the host's end of the channel's socket. The caller then owns it.
  int take_socket() noexcept;
  void kill() const;
  // Waits until the process has ended, for at most `milliseconds`; a negative number is no limit. Returns false if the process still runs.
  bool wait(int milliseconds);
  // How the process has ended: "SIGKILL", "exit code 3". Call it after wait() has returned true.
  std::string exit_description() const;
  // What the process has written to kCrashRecordDescriptor about a crash. Empty: nothing.
  std::string crash_record() const;

 private:
  bool spawn(const std::string& program, const std::vector<std::string>& words, int socket, int output);
  void read_output() const;

  int pid_ = -1, handle_ = -1, socket_ = -1, output_ = -1, record_ = -1, end_ = -1;
  int status_ = 0;
  bool ended_ = false;
  const std::function<void(std::string_view)> line_;
  std::thread reader_;
};

}  // namespace backplane::runner
