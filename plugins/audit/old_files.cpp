#include "old_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <set>

#include "file_error.hpp"
#include "log_file.hpp"

namespace backplane::audit {
namespace {

using std::chrono::system_clock;

constexpr std::string_view kCompressed = ".gz";
constexpr std::string_view kTimeForm = "2006-01-02T15-04-05.000";

struct NameParts {
  std::string folder, prefix, extension;  // "…/", "audit-", ".log"
};
NameParts parts_of(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string name = file.filename().string();
  const std::size_t dot = name.rfind('.');
  const std::string stem = dot == std::string::npos ? name : name.substr(0, dot);
  return {path.substr(0, path.size() - name.size()), stem + "-", dot == std::string::npos ? "" : name.substr(dot)};
}

// Compresses `from` to `to` in gzip's format. `to` gets the mode of `from`.
Status compress_file(const std::string& from, const std::string& to) {
  const auto failed = [](std::string_view call, const std::string& file) {
    return Status(Reason::kInternalError, file_error(call, file, errno));
  };
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, CloseFile> in(std::fopen(from.c_str(), "rbe"));
  struct stat found {};
  if (!in || ::fstat(::fileno(in.get()), &found) != 0) return failed("open", from);
  const int descriptor = ::open(to.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, found.st_mode & 0777);
  gzFile out = descriptor < 0 ? nullptr : gzdopen(descriptor, "wb");
  if (out == nullptr) return failed("open", to);
  std::array<char, 1 << 16> buffer;
  std::size_t count = 0;
  bool good = true;
  while (good && (count = std::fread(buffer.data(), 1, buffer.size(), in.get())) > 0) {
    good = gzwrite(out, buffer.data(), static_cast<unsigned>(count)) == static_cast<int>(count);
  }
  good = gzclose(out) == Z_OK && good && std::ferror(in.get()) == 0;
  if (good && ::unlink(from.c_str()) == 0) return {};
  Status why = failed("write", to);
  ::unlink(to.c_str());
  return why;
}

}  // namespace

std::string backup_name(const std::string& path, system_clock::time_point time) {
  const auto millis = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = millis / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[40], fraction[8];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H-%M-%S", &utc);
  std::snprintf(fraction, sizeof fraction, ".%03d", static_cast<int>(millis % 1000));
  const NameParts parts = parts_of(path);
  return parts.folder + parts.prefix + text + fraction + parts.extension;
}

std::optional<system_clock::time_point> backup_time(const std::string& path, std::string_view name) {
  const NameParts parts = parts_of(path);
  if (name.size() != parts.prefix.size() + kTimeForm.size() + parts.extension.size()) return std::nullopt;
  if (!name.starts_with(parts.prefix) || !name.ends_with(parts.extension)) return std::nullopt;
  const std::string text(name.substr(parts.prefix.size(), kTimeForm.size()));
  for (std::size_t i = 0; i < kTimeForm.size(); ++i) {
    const bool digit = kTimeForm[i] >= '0' && kTimeForm[i] <= '9';
    if (digit ? text[i] < '0' || text[i] > '9' : text[i] != kTimeForm[i]) return std::nullopt;
  }
  std::tm utc{};
  if (::strptime(text.c_str(), "%Y-%m-%dT%H-%M-%S", &utc) == nullptr) return std::nullopt;
  return system_clock::from_time_t(::timegm(&utc)) + std::chrono::milliseconds(std::stoi(text.substr(20)));
}

OldFiles old_files(const std::string& path, const std::vector<std::string>& names, int max_backups, int max_age_days, bool compress,
                   system_clock::time_point now) {
  struct Old {
    system_clock::time_point time;
    std::string name;
    bool compressed;
  };
  std::vector<Old> old;
  for (const std::string& name : names) {
    const bool compressed = name.ends_with(kCompressed);
    const auto time = backup_time(path, std::string_view(name).substr(0, name.size() - (compressed ? kCompressed.size() : 0)));
    if (time) old.push_back({*time, name, compressed});
  }
  std::stable_sort(old.begin(), old.end(), [](const Old& a, const Old& b) { return a.time > b.time; });
  OldFiles out;
  std::set<system_clock::time_point> counted;  // a file and its incomplete compressed copy count once
  for (const Old& each : old) {
    counted.insert(each.time);
    const bool many = max_backups > 0 && counted.size() > static_cast<std::size_t>(max_backups);
    const bool aged = max_age_days > 0 && each.time < now - std::chrono::hours(24) * max_age_days;
    if (many || aged) {
      out.remove.push_back(each.name);
    } else if (compress && !each.compressed) {
      out.compress.push_back(each.name);
    }
  }
  return out;
}

Status clean_up_rotated_files(const LogFileOptions& options, system_clock::time_point now) {
  const std::string folder = parts_of(options.path).folder;
  std::error_code error;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator entry(folder.empty() ? "." : folder, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) return Status(Reason::kInternalError, "can't read log file directory: " + file_error("open", folder, error.value()));
  const OldFiles old = old_files(options.path, names, options.max_backups, options.max_age_days, options.compress, now);
  Status first;
  for (const std::string& name : old.remove) {
    if (::unlink((folder + name).c_str()) != 0 && errno != ENOENT && first.ok()) {
      first = Status(Reason::kInternalError, file_error("remove", folder + name, errno));
    }
  }
  for (const std::string& name : old.compress) {
    Status status = compress_file(folder + name, folder + name + std::string(kCompressed));
    if (first.ok()) first = std::move(status);
  }
  return first;
}

}  // namespace backplane::audit
