# A mail server: each thread deletes a message, receives one, reads and answers one, and reads another. What is written is
# synced. The numbers are those of filebench's own workload of this name.

set $dir=/data
set $nfiles=1000
set $meandirwidth=1000000
set $filesize=cvar(type=cvar-gamma,parameters=mean:16384;gamma:1.5)
set $nthreads=16
set $iosize=1m
set $meanappendsize=16k

define fileset name=messages,path=$dir,size=$filesize,entries=$nfiles,dirwidth=$meandirwidth,prealloc=80

define process name=server,instances=1
{
  thread name=worker,instances=$nthreads
  {
    flowop deletefile name=delete,filesetname=messages
    flowop createfile name=create,filesetname=messages,fd=1
    flowop appendfilerand name=receive,iosize=$meanappendsize,fd=1
    flowop fsync name=sync-received,fd=1
    flowop closefile name=close-received,fd=1
    flowop openfile name=open-to-answer,filesetname=messages,fd=1
    flowop readwholefile name=read-to-answer,fd=1,iosize=$iosize
    flowop appendfilerand name=answer,iosize=$meanappendsize,fd=1
    flowop fsync name=sync-answer,fd=1
    flowop closefile name=close-answered,fd=1
    flowop openfile name=open-to-read,filesetname=messages,fd=1
    flowop readwholefile name=read,fd=1,iosize=$iosize
    flowop closefile name=close-read,fd=1
  }
}

run 60
