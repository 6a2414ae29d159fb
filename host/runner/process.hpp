// One runner process: started, its output in the log, its end noticed.
//
// Thread-safety: the constructor and destructor by one thread, which must live as long as the process: the kernel ends the process when
//                that thread ends. pid() and kill() by any thread.
// Lifetime:      the destructor kills the process and what it has left running in its process group, and waits for it.
// Errors:        pid() is -1 if it could not be started; socket() is then -1.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace backplane::runner {

// Descriptors of the process.
inline constexpr int kSocketDescriptor = 3;       // a channel
inline constexpr int kCrashRecordDescriptor = 4;  // record_crashes_in()

class Process {
 public:
  // Runs `program plugin runner WORDS`. `line`: called on a thread of this object for each line of its output.
  Process(const std::string& program, const std::vector<std::string>& words, std::function<void(std::string_view)> line);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  int pid() const noexcept { return pid_; }
  // The host's end of the channel; the caller takes it over.
  int take_socket() noexcept;
  void kill() const;
  // Waits until it has ended; at most `milliseconds`, or without a limit if that is negative. False: it runs.
  bool wait(int milliseconds);
  // After its end: "SIGKILL", "exit code 3".
  std::string how_it_ended() const;
  // What the process has recorded about its crash; empty: nothing.
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
