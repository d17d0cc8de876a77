"""Large logs: chooses the excerpts that are read line by line. Logs of up to `blocks.BLOCK_BYTES` do not use this
package."""
