"""The contracts of pyproject.toml between the rooms of the house, held by import-linter."""

from importlinter.cli import lint_imports_command

if __name__ == "__main__":
    lint_imports_command()
