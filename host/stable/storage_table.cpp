// Storage backends of the stable tier.
#include "backplane/host.hpp"
#include "stable/context.hpp"
#include "stable/event_stream.hpp"
#include "stable/store_answer.hpp"
#include "stable/table_storage.hpp"
#include "stable/tables.hpp"

namespace backplane::stable {
namespace {

// The first function that is missing; null: none.
const char* missing_function(const bp_storage_backend& table) {
  const std::pair<const char*, bool> functions[] = {{"open", table.open != nullptr},
                                                    {"close", table.close != nullptr},
                                                    {"current_revision", table.current_revision != nullptr},
                                                    {"range", table.range != nullptr},
                                                    {"txn", table.txn != nullptr},
                                                    {"watch", table.watch != nullptr},
                                                    {"more", table.more != nullptr},
                                                    {"cancel", table.cancel != nullptr},
                                                    {"compact", table.compact != nullptr},
                                                    {"grant_lease", table.grant_lease != nullptr}};
  for (const auto& [name, given] : functions) {
    if (!given) return name;
  }
  return nullptr;
}

int32_t add_backend(bp_context* context, const bp_storage_backend* given, bp_error* error) {
  return guarded(error, [&]() -> Status {
    StorageProvider provider(*given);
    if (provider.name.empty()) return bad_request("a storage backend needs a name");
    if (const char* missing = missing_function(provider.table)) {
      return bad_request("the storage backend " + backplane::quoted(provider.name) + " needs " + missing + "()");
    }
    std::string name = provider.name;
    return context->host->register_storage_backend(std::move(name), [provider = std::move(provider)](const StorageBackendConfig& config) {
      return open_table_storage(provider, config);
    });
  });
}

void set_range(bp_store_answer* answer, int64_t revision, int64_t count, int32_t more) {
  answer->revision = revision;
  answer->count = count;
  answer->more = more != 0;
}

void set_txn(bp_store_answer* answer, int32_t committed, int64_t revision) {
  answer->committed = committed != 0;
  answer->revision = revision;
}

}  // namespace

const bp_storage_table& storage_table() {
  static const bp_storage_table kTable = {
      .struct_size = sizeof(bp_storage_table),
      .add = add_backend,
      .add_item = [](bp_store_answer* answer, const bp_key_value* item) { answer->items.push_back(key_value_of(*item)); },
      .set_range = set_range,
      .set_txn = set_txn,
      .add_event = [](bp_event_stream* stream, const bp_store_event* event) { stream->add(*event); },
      .push = [](bp_event_stream* stream, int64_t revision) { return stream->push(revision); },
      .end = [](bp_event_stream* stream, const bp_error* error) { stream->end(error == nullptr ? Status() : status_of(*error)); },
  };
  return kTable;
}

}  // namespace backplane::stable
