"""`python -m zhiku`: the command line without the script."""

from zhiku.cli.main import main

if __name__ == "__main__":
    main()
