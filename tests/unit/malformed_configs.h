// Several hundred configs that must be refused, made from tables: every key with every wrong type,
// and each rule between keys.
#pragma once

#include <string>
#include <vector>

namespace sim {

struct Malformed {
  std::string text;
  std::string key;                 // the message's key; empty: not of one key
  std::vector<std::string> words;  // each must be in the message
  bool has_line = true;
};

std::vector<Malformed> malformed_configs();

}  // namespace sim
