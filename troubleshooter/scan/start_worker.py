"""Starts a worker. It is run by its file name: ``python -m`` would import modules from the user's working folder."""

import json
import sys

if __name__ == "__main__":
    sys.path[:] = json.loads(sys.argv[1])

    from troubleshooter.scan.worker import main

    main()
