// The command `rubato`.
#include "app/commands.hpp"

int main(int argc, char** argv) { return rubato::app::command(argc, argv, rubato::app::golden); }
