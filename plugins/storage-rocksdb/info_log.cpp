#include "info_log.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <string_view>

namespace backplane::rocks {
namespace {

class InfoLog final : public rocksdb::Logger {
 public:
  explicit InfoLog(backplane::Logger* logger) : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL), logger_(logger) {}

  void LogHeader(const char*, va_list) override {}
  void Logv(const char* format, va_list arguments) override { Logv(rocksdb::InfoLogLevel::INFO_LEVEL, format, arguments); }
  void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    if (logger_ == nullptr || level < rocksdb::InfoLogLevel::WARN_LEVEL || level >= rocksdb::InfoLogLevel::HEADER_LEVEL) return;
    std::array<char, 1024> text;  // longer lines are truncated
    if (std::vsnprintf(text.data(), text.size(), format, arguments) < 0) return;
    if (level == rocksdb::InfoLogLevel::WARN_LEVEL) {
      logger_->warn(text.data());
    } else {
      logger_->error(text.data());
    }
  }

 private:
  backplane::Logger* const logger_;
};

}  // namespace

std::shared_ptr<rocksdb::Logger> make_info_log(backplane::Logger* logger) { return std::make_shared<InfoLog>(logger); }

}  // namespace backplane::rocks
