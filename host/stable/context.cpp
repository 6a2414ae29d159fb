#include "stable/context.hpp"

#include <cstdint>

#include "stable/controllers.hpp"
#include "stable/tables.hpp"

namespace backplane::stable {
namespace {

struct TableRow {
  std::string_view name;
  std::uint32_t version;
  const void* table;
};
const TableRow* rows() {
  static const TableRow kRows[] = {
      {BP_JSON_TABLE, BP_JSON_TABLE_VERSION, &json_table()},
      {BP_GROUPS_TABLE, BP_GROUPS_TABLE_VERSION, &groups_table()},
      {BP_SECURITY_TABLE, BP_SECURITY_TABLE_VERSION, &security_table()},
      {BP_ADMISSION_TABLE, BP_ADMISSION_TABLE_VERSION, &admission_table()},
      {BP_HTTP_TABLE, BP_HTTP_TABLE_VERSION, &http_table()},
      {BP_LIFECYCLE_TABLE, BP_LIFECYCLE_TABLE_VERSION, &lifecycle_table()},
      {BP_CLIENT_TABLE, BP_CLIENT_TABLE_VERSION, &client_table()},
      {BP_CONTROLLERS_TABLE, BP_CONTROLLERS_TABLE_VERSION, &controllers_table()},
      {BP_STORAGE_TABLE, BP_STORAGE_TABLE_VERSION, &storage_table()},
      {BP_AUDIT_TABLE, BP_AUDIT_TABLE_VERSION, &audit_table()},
      {},
  };
  return kRows;
}

using LogCall = void (Logger::*)(std::string_view);
constexpr LogCall kLogCalls[] = {&Logger::error, &Logger::warn, &Logger::info, &Logger::debug};

void log_line(bp_context* context, int32_t level, bp_str line) {
  constexpr int kLast = static_cast<int>(std::size(kLogCalls)) - 1;
  (context->host->logger().*kLogCalls[std::clamp(level, 0, kLast)])(view(line));
}

bp_text* flag_of(bp_context* context, bp_str name) {
  auto value = context->host->flag(view(name));
  return value ? give(std::move(*value)) : nullptr;
}

bp_host host_table(bp_context* context) {
  bp_host table{};
  table.struct_size = sizeof(table);
  table.context = context;
  table.table = [](bp_context*, bp_str name, uint32_t version) { return find_table(view(name), version); };
  table.log = log_line;
  table.write = [](bp_output* output, bp_str bytes) { output->bytes.append(view(bytes)); };
  table.view = [](const bp_text* text) { return str(text->bytes.view()); };
  table.release = [](bp_text* text) { delete text; };
  table.flag = flag_of;
  return table;
}

}  // namespace

const void* find_table(std::string_view name, std::uint32_t version) {
  for (const TableRow* row = rows(); row->table != nullptr; ++row) {
    if (row->name == name) return row->version >= version ? row->table : nullptr;
  }
  return nullptr;
}

}  // namespace backplane::stable

bp_context::bp_context(std::string plugin_name, std::function<backplane::Status()> its_process)
    : name(std::move(plugin_name)), process(std::move(its_process)) {}
bp_context::~bp_context() = default;

void bp_context::begin(backplane::Host& its_host) {
  host = &its_host;
  threads.emplace(its_host);
  if (process) kind_threads.emplace(its_host, "kind");
  client = its_host.client();
  table = backplane::stable::host_table(this);
}
