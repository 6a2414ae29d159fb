// The checks of the host (doctor.hpp): files, disk, limits, clock, port.
#include <pwd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "app/doctor.hpp"
#include "base/progress_line.hpp"
#include "transport/sockets.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLowSpace = 1'000'000'000, kNoSpace = 100'000'000;
constexpr unsigned kFewInPercent = 5;
constexpr rlim_t kManyFiles = 65'536, kFewFiles = 1'024;
constexpr mode_t kOthers = 077;

std::string owner_name(uid_t uid) {
  const passwd* entry = getpwuid(uid);
  return entry != nullptr ? entry->pw_name : std::to_string(uid);
}

// `path`, or its nearest parent directory that exists.
std::string existing_part(fs::path path) {
  std::error_code error;
  while (!fs::exists(path, error) && path.has_relative_path()) path = path.parent_path();
  return path.string();
}

std::string octal(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777));
  return text.data();
}

// Files that only the owner may read: keys, and credentials of an administrator.
std::vector<std::string> private_files(const std::string& data_dir) {
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(data_dir + "/pki", error)) {
    if (entry.path().extension() == ".key") out.push_back(entry.path().string());
  }
  if (fs::exists(data_dir + "/admin.kubeconfig", error)) out.push_back(data_dir + "/admin.kubeconfig");
  return out;
}

// A file that the owner of the directory cannot open prevents the service from starting.
void check_owners(const std::string& data_dir, uid_t owner, Diagnoses& out) {
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(data_dir, error)) {
    struct stat info {};
    if (lstat(entry.path().c_str(), &info) != 0 || info.st_uid == owner) continue;
    out.push_back({"files", DiagnosisLevel::kError,
                   entry.path().string() + " belongs to " + owner_name(info.st_uid) + ", the data directory to " + owner_name(owner),
                   "chown -R " + owner_name(owner) + ": " + data_dir});
    return;
  }
}

}  // namespace

void check_data_directory(const DoctorSubject& subject, Diagnoses& out) {
  const std::string& path = subject.options.backplane.data_dir;
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    const std::string parent = existing_part(path);
    if (access(parent.c_str(), W_OK) == 0) {
      out.push_back({"files", DiagnosisLevel::kOk, path + " does not exist; the first startup makes it"});
    } else {
      out.push_back({"files", DiagnosisLevel::kError, path + " does not exist, and this user cannot write to " + parent,
                     "make the directory for the server's user, or name another --data-dir"});
    }
    return;
  }
  const std::size_t before = out.size();
  if (!S_ISDIR(info.st_mode)) {
    out.push_back({"files", DiagnosisLevel::kError, path + " is not a directory", "name another --data-dir"});
    return;
  }
  if (access(path.c_str(), R_OK | W_OK | X_OK) != 0) {
    out.push_back({"files", DiagnosisLevel::kError,
                   "this user cannot read and write " + path + ", which belongs to " + owner_name(info.st_uid),
                   "run this command and the server as " + owner_name(info.st_uid)});
    return;
  }
  if ((info.st_mode & kOthers) != 0) {
    out.push_back(
        {"files", DiagnosisLevel::kWarning, path + " has mode " + octal(info.st_mode) + ": other users can read it", "chmod 0700 " + path});
  }
  check_owners(path, info.st_uid, out);
  for (const std::string& file : private_files(path)) {
    struct stat own {};
    if (stat(file.c_str(), &own) == 0 && (own.st_mode & kOthers) != 0) {
      out.push_back({"files", DiagnosisLevel::kError, file + " has mode " + octal(own.st_mode) + ": other users can read a private key",
                     "chmod 0600 " + file + ", and replace the key if other users were on this machine"});
    }
  }
  if (out.size() == before) out.push_back({"files", DiagnosisLevel::kOk, path + ": owner and modes are right"});
}

void check_disk(const DoctorSubject& subject, Diagnoses& out) {
  const std::string path = existing_part(subject.options.backplane.data_dir);
  struct statvfs room {};
  if (statvfs(path.c_str(), &room) != 0) {
    out.push_back({"disk", DiagnosisLevel::kError, path + ": " + std::strerror(errno), "mount the file system"});
    return;
  }
  const std::uint64_t free = static_cast<std::uint64_t>(room.f_bavail) * room.f_frsize;
  const std::uint64_t all = static_cast<std::uint64_t>(room.f_blocks) * room.f_frsize;
  const bool little = free < kLowSpace || (all > 0 && free * 100 / all < kFewInPercent);
  const std::string text = shown_bytes(free) + " of " + shown_bytes(all) + " free on the file system of " + path;
  if (free < kNoSpace) {
    out.push_back({"disk", DiagnosisLevel::kError, text, "make room: a store that cannot write refuses all writes"});
  } else if (little) {
    out.push_back({"disk", DiagnosisLevel::kWarning, text, "make room, or move the data directory to a larger file system"});
  } else {
    out.push_back({"disk", DiagnosisLevel::kOk, text});
  }
}

void check_open_files(const DoctorSubject&, Diagnoses& out) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const std::string text = "up to " + (limit.rlim_max == RLIM_INFINITY ? "any number of" : std::to_string(limit.rlim_max)) +
                           " open files for processes of this session";
  const std::string fix = "LimitNOFILE= in the unit, or ulimit -Hn; each connection needs one";
  if (limit.rlim_max >= kManyFiles) {
    out.push_back({"open files", DiagnosisLevel::kOk, text});
  } else {
    out.push_back({"open files", limit.rlim_max < kFewFiles ? DiagnosisLevel::kError : DiagnosisLevel::kWarning, text, fix});
  }
}

void check_clock(const DoctorSubject&, Diagnoses& out) {
  timex state{};
  const int result = adjtimex(&state);
  if (result < 0) {
    out.push_back({"clock", DiagnosisLevel::kWarning, std::string("the kernel's clock state cannot be read: ") + std::strerror(errno),
                   "check the time"});
  } else if (result == TIME_ERROR || (state.status & STA_UNSYNC) != 0) {
    out.push_back({"clock", DiagnosisLevel::kWarning, "the clock is not synchronized: certificates, tokens and leases depend on the time",
                   "start an NTP client, as systemd-timesyncd or chrony"});
  } else {
    out.push_back({"clock", DiagnosisLevel::kOk, "synchronized"});
  }
}

void check_port(const DoctorSubject& subject, Diagnoses& out) {
  const auto& serving = subject.options.secure_serving;
  const std::string name = serving.bind_address + ":" + std::to_string(serving.secure_port);
  if (subject.running) {
    out.push_back({"port", DiagnosisLevel::kOk, "the server of this data directory runs"});
    return;
  }
  ServingOptions options;
  options.bind_address = serving.bind_address;
  options.port = static_cast<std::uint16_t>(serving.secure_port);
  const auto listening = listen_tcp(options);
  if (listening.ok()) {
    out.push_back({"port", DiagnosisLevel::kOk, name + " can be listened on"});
  } else {
    out.push_back({"port", DiagnosisLevel::kError, listening.status().message(),
                   "name another --secure-port or --bind-address, or stop the process that has the port (ss -ltnp)"});
  }
}

}  // namespace backplane
