// Reads facts about the database's files, and checks them: first the checksums of each SST file (segment), then every row.
//
// Thread-safety: any thread; blocks while it reads.
// Errors:        kServiceUnavailable after the database was closed.
#pragma once

#include <string>
#include <string_view>

#include "backplane/points/store_inspection.hpp"
#include "database.hpp"

namespace backplane::rocks {

Result<StoreFacts> read_facts(const Database& database);
// Checks one segment, or some thousands of rows. `from`: StoreCheckPart::next of the previous part; empty for the first part.
Result<StoreCheckPart> check_part(const Database& database, std::string_view from);

// Finds the file and the offset in an error message of RocksDB. If it has none, StoreDamage::file is empty.
StoreDamage parse_damage(const std::string& message);

}  // namespace backplane::rocks
